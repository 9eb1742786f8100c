import { ConfigError } from './read-config.js';

/** Variables by name, as a schema has read them; undefined: not given. */
export type Read = Readonly<Record<string, unknown>>;

/**
 * Refuses a start with half of what belongs together.
 * @param groups names of variables; of each group all are given or none
 * @throws {ConfigError} one sentence for each group that is given in part
 */
export function requireTogether(read: Read, ...groups: readonly (readonly string[])[]): void {
  const problems = groups.flatMap((names) => {
    const missing = names.filter((name) => read[name] === undefined);
    if (missing.length === 0 || missing.length === names.length) return [];
    const given = names.filter((name) => !missing.includes(name));
    return [`${given.join(', ')}: given without ${missing.join(', ')}; set all of them or none`];
  });
  if (problems.length > 0) throw new ConfigError(problems);
}
