/**
 * A number of a metrics page: of a series with several label sets, the sum of them.
 * @param page text of the page
 * @param series its name without labels
 * @returns nothing when the page has no such series
 */
export function sumOf(page: string, series: string): number | undefined {
  const found = page
    .split('\n')
    .filter((line) => line.startsWith(series) && [' ', '{'].includes(line.charAt(series.length)));
  if (found.length === 0) return undefined;
  return found.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

/**
 * The same of the page that a process serves.
 * @param probes origin of its probes
 * @throws when the page has no such series
 */
export async function readMetric(probes: string, series: string): Promise<number> {
  const sum = sumOf(await (await fetch(`${probes}/metrics`)).text(), series);
  if (sum === undefined) throw new Error(`${probes}/metrics has no ${series}`);
  return sum;
}
