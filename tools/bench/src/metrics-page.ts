/**
 * A number of a process's metrics page.
 * @param probes origin of its probes
 * @param series name of the series, with labels if it has any; those of several label sets are added
 * @throws when the page has no such series
 */
export async function readMetric(probes: string, series: string): Promise<number> {
  const response = await fetch(`${probes}/metrics`);
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith(series));
  const found = lines.filter((line) => [' ', '{'].includes(line.charAt(series.length)));
  if (found.length === 0) throw new Error(`${probes}/metrics has no ${series}`);
  return found.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}
