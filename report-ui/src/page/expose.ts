// For the console: what the page holds, and how it is drawn.

interface Exposed {
  page: object;
  view: object;
  plots: object[];
}

declare global {
  interface Window {
    mptcplab: Exposed & { drawn: boolean; drawnAfterMs: number };
  }
}

export function expose(exposed: Exposed): void {
  window.mptcplab = { ...exposed, drawn: false, drawnAfterMs: Number.NaN };
}

export function exposeDrawn(): void {
  Object.assign(window.mptcplab, { drawn: true, drawnAfterMs: performance.now() });
}
