"""The peers that the analysis is compared with, and what exactly their figures mean."""
