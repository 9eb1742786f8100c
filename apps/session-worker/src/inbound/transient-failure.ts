/** Classes of PostgreSQL's error codes that say "not now": connection, resources, operator intervention. */
const TRANSIENT_CLASSES = ['08', '53', '57', '58'];
/** Serialization, deadlock, lock not available, a transaction that had fallen silent because this process was held up. */
const TRANSIENT_CODES = ['40001', '40P01', '55P03', '25P03'];
const SYSTEM_CODES = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENOTFOUND', 'EAI_AGAIN'];
/** The driver has no code for these. */
const DRIVER_TEXTS = /Connection terminated|timeout exceeded when trying to connect|Query read timeout|not queryable/;

/** Will the same write succeed once the database is back? False for what is wrong with the write itself. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code: unknown = Reflect.get(error, 'code');
  if (typeof code === 'string') {
    return (
      SYSTEM_CODES.includes(code) ||
      TRANSIENT_CODES.includes(code) ||
      (/^[0-9A-Z]{5}$/.test(code) && TRANSIENT_CLASSES.includes(code.slice(0, 2)))
    );
  }
  return DRIVER_TEXTS.test(error.message) || (error instanceof AggregateError && error.errors.some(isTransient));
}
