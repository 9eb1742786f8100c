/** The names of a record as a list that is never empty. */
export function namesOf<Name extends string>(record: Record<Name, unknown>): [Name, ...Name[]] {
  return Object.keys(record) as [Name, ...Name[]];
}
