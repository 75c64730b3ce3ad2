// Reads the page's description, and puts its long columns where they belong.

// Item types by Python's type codes.
const TYPES = { d: Float64Array, I: Uint32Array, H: Uint16Array };

type Column = Float64Array | Uint32Array | Uint16Array;

interface Place {
  type: keyof typeof TYPES;
  at: number;
  length: number;
}

export async function read<Described>(): Promise<Described> {
  const columns = await unpacked(text("columns"));
  return JSON.parse(text("page"), (_, value) => (isPlace(value) ? column(columns, value) : value));
}

function text(id: string): string {
  return document.getElementById(id)?.textContent ?? "";
}

async function unpacked(encoded: string): Promise<ArrayBuffer> {
  const packed = Uint8Array.from(atob(encoded), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

function isPlace(value: unknown): value is Place {
  return typeof value === "object" && value !== null && "at" in value && "length" in value && "type" in value;
}

function column(columns: ArrayBuffer, place: Place): Column {
  return new TYPES[place.type](columns, place.at, place.length);
}
