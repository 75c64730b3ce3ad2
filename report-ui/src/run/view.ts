// What all charts of a page share: the span of time that is shown, and the subflows that are hidden. It lives in
// the address (#from=1.2&to=3.4&hide=1), so that a link shows what its sender saw.

export interface Span {
  from: number;
  to: number;
}

export class View {
  span: Span;
  readonly hidden = new Set<number>();
  private readonly followers: (() => void)[] = [];

  constructor(readonly whole: Span) {
    this.span = whole;
    this.read();
    window.addEventListener("hashchange", () => {
      if (this.read()) this.tell();
    });
  }

  follow(follower: () => void): void {
    this.followers.push(follower);
  }

  zoom(span: Span): void {
    this.span = this.within(span);
    this.changed();
  }

  reset(): void {
    this.zoom(this.whole);
  }

  // Scale about the middle, and move by a part of what is shown.
  scale(factor: number): void {
    const { from, to } = this.span;
    const half = ((to - from) * factor) / 2;
    this.zoom({ from: (from + to) / 2 - half, to: (from + to) / 2 + half });
  }

  move(part: number): void {
    const { from, to } = this.span;
    const length = to - from;
    const start = Math.min(Math.max(from + part * length, this.whole.from), this.whole.to - length);
    this.zoom({ from: start, to: start + length });
  }

  show(subflow: number, shown: boolean): void {
    if (shown) this.hidden.delete(subflow);
    else this.hidden.add(subflow);
    this.changed();
  }

  shows(subflow: number | null): boolean {
    return subflow === null || !this.hidden.has(subflow);
  }

  private within({ from, to }: Span): Span {
    // A microsecond is the shortest worth looking at.
    const span = { from: Math.max(from, this.whole.from), to: Math.min(to, this.whole.to) };
    return span.to - span.from >= 1e-6 ? span : this.whole;
  }

  private changed(): void {
    this.write();
    this.tell();
  }

  private tell(): void {
    for (const follower of this.followers) follower();
  }

  private write(): void {
    const parameters = new URLSearchParams();
    if (this.span.from > this.whole.from || this.span.to < this.whole.to) {
      parameters.set("from", this.span.from.toFixed(6));
      parameters.set("to", this.span.to.toFixed(6));
    }
    if (this.hidden.size) parameters.set("hide", [...this.hidden].sort().join(","));
    history.replaceState(null, "", `#${parameters}`);
  }

  private read(): boolean {
    const before = JSON.stringify([this.span, [...this.hidden]]);
    const parameters = new URLSearchParams(location.hash.slice(1));
    const from = Number(parameters.get("from") ?? this.whole.from);
    const to = Number(parameters.get("to") ?? this.whole.to);
    this.span = this.within({ from, to });
    this.hidden.clear();
    for (const number of parameters.get("hide")?.split(",") ?? []) this.hidden.add(Number(number));
    return before !== JSON.stringify([this.span, [...this.hidden]]);
  }
}
