"""Tables in, static figures for papers out: PDF, SVG or PNG."""

from mptcplab._core import Error

#: What a figure is drawn of.
RUN, CAMPAIGN = "run", "campaign"


def check_installed() -> None:
    """Refuse to draw where matplotlib, an optional extra, is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError as error:
        raise Error(f"figures need {error.name}: pip install 'mptcplab[figures]'") from error
