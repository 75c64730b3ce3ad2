"""The page of a campaign: its groups of runs, their figures, and the runs behind them."""
