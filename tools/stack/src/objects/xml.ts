const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function escapeText(text: string): string {
  return [...text]
    .map((character) => {
      const code = character.codePointAt(0) ?? 0;
      return code < 0x20 || '&<>"'.includes(character) ? `&#${code};` : character;
    })
    .join('');
}

type Content = string | number | boolean | readonly string[];

/** One element; text content is escaped, a list is elements that are already written. */
export function element(name: string, content: Content): string {
  const inner = typeof content === 'object' ? content.join('') : escapeText(String(content));
  return `<${name}>${inner}</${name}>`;
}

/** A whole document with its declaration. */
export function xmlDocument(root: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root}`;
}

function unescapeText(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex?: string, decimal?: string, name?: string) => {
    if (hex !== undefined) return String.fromCodePoint(parseInt(hex, 16));
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    return ENTITIES[name ?? ''] ?? whole;
  });
}

/** The contents of every element of that name, in order, not unescaped: for elements that hold elements. */
export function elements(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}(?:\\s[^>]*)?>([\\s\\S]*?)</${name}>`, 'g'))].map(
    (match) => match[1] ?? '',
  );
}

/** The text of the first element of that name. */
export function elementText(xml: string, name: string): string | undefined {
  const [first] = elements(xml, name);
  return first === undefined ? undefined : unescapeText(first);
}
