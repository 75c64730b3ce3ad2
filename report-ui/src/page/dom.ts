// Elements of the page, made in one line each.

type Child = Node | string;

export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Record<string, string> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
  element.append(...children);
  return element;
}

export function button(label: string, meaning: string, pressed: () => void): HTMLButtonElement {
  // What is read aloud holds what is seen: people name it when they speak to the page.
  const hidden = !/\w/.test(label) || meaning.includes(label);
  const name = hidden ? meaning : `${label}: ${meaning}`;
  const element = make("button", { type: "button", title: meaning, "aria-label": name }, label);
  element.addEventListener("click", pressed);
  return element;
}

export function save(name: string, type: string, content: BlobPart): void {
  const address = URL.createObjectURL(new Blob([content], { type }));
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

// What may be wider than the page: those without a mouse reach it to scroll.
export function wide(about: string, ...children: Child[]): HTMLElement {
  return make("div", { class: "wide", role: "region", "aria-label": about, tabindex: "0" }, ...children);
}

// A button that puts text on the clipboard, and says so.
export function copies(text: string): HTMLButtonElement {
  const element = button("copy", `copy: ${text}`, async () => {
    await navigator.clipboard.writeText(text);
    element.textContent = "copied";
  });
  return element;
}

export function onWidthChange(element: HTMLElement, changed: () => void): void {
  let width = element.clientWidth;
  new ResizeObserver(() => {
    if (element.clientWidth === width) return;
    width = element.clientWidth;
    changed();
  }).observe(element);
}
