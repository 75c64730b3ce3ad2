"""Tables in, one offline HTML page out."""
