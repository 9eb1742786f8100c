/**
 * Where an error came from: its name, its code and the places on its stack, without its message, which may contain text
 * of a customer.
 */
export function errorOutline(error: unknown): { name: string; code?: string | number; at: string[] } {
  if (!(error instanceof Error)) return { name: typeof error, at: [] };
  const code: unknown = Reflect.get(error, 'code');
  const places = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return {
    name: error.name,
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    at: places.slice(0, 8).map((place) => place.trim().slice(3)),
  };
}
