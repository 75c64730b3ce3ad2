"""Charts of a campaign, and its page: groups of runs, their metrics, the runs themselves."""
