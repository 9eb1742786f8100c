/** Rows of cells as aligned lines; the first row is the head, and numbers stand to the right. */
export function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = rows.reduce<number[]>(
    (widest, row) => row.map((cell, column) => Math.max(widest[column] ?? 0, cell.length)),
    [],
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ');
  const [head, ...others] = rows.map(line);
  return head === undefined ? [] : [head, widths.map((width) => '─'.repeat(width)).join('  '), ...others];
}

/** Prints rows of cells as an aligned table. */
export function printTable(rows: readonly (readonly string[])[]): void {
  for (const line of aligned(rows)) console.log(line);
}
