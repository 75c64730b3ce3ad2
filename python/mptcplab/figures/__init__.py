"""Tables in, static figures for papers out: PDF, SVG or PNG."""
