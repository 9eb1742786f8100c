/** Prints rows of cells as an aligned table; the first row is the head, numbers stand to the right. */
export function printTable(rows: readonly (readonly string[])[]): void {
  const widths = rows.reduce<number[]>(
    (widest, row) => row.map((cell, column) => Math.max(widest[column] ?? 0, cell.length)),
    [],
  );
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ');
  rows.forEach((row, index) => {
    console.log(line(row));
    if (index === 0) console.log(widths.map((width) => '─'.repeat(width)).join('  '));
  });
}
