"""Descriptions of charts, drawn by a page (ECharts) and as figures for papers (matplotlib)."""
