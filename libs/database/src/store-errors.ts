/**
 * Whose fault a failed read or write is: the store's, or its own.
 *
 * What it guarantees: a write counts as failed by its own fault only if the server refuses its values (SQLSTATE classes
 * 22, data exception, and 23, integrity constraint violation), or if the error never came from the driver (a mistake in our
 * own code). Everything else shows nothing about the write: the same statement may succeed later, and giving it up would
 * lose it. That holds for errors of sockets, name servers and TLS, and for everything else that a server refuses (a missing
 * table while it is being migrated, a wrong password while it is being changed).
 */
import { constants } from 'node:os';

/** Data exception; integrity constraint violation. */
const ROW_FAULT_CLASSES = new Set(['22', '23']);
/** Five digits or capitals. No class begins with E, codes of the system do (`EPIPE`). */
const SQL_STATE = /^(?!E)[0-9A-Z]{5}$/;
/** Name servers; sockets and streams; TLS and its certificates. The system's own codes are in `os.constants`. */
const SOCKET_CODE =
  /^(?:E(?!RR_)[A-Z][A-Z0-9_]+|ERR_(?:TLS|SSL|OSSL|SOCKET|STREAM|SERVER|CONNECTION|NETWORK)[A-Z0-9_]*|CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_CERT|DEPTH_ZERO_SELF_SIGNED_CERT|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|OUT_OF_MEM)/;
/** Texts of the driver's errors without a code; held against its source by a spec. */
const DRIVER_TEXT =
  /^(?:Connection (?:terminated|ended)|timeout expired|timeout exceeded when trying to connect|Query read timeout|Client (?:has encountered a connection error|was closed)|The server does not support SSL|There was an error establishing an SSL|Received unexpected |SASL|Unknown authenticationOk|Cannot use a pool after calling end|unexpected condition)|not queryable/;

/** Prisma's own codes. */
const PRISMA_CODE = /^P[1-6]\d{3}$/;
/** Those that mean what SQLSTATE classes 22 and 23 mean, or that a record is not there. */
const PRISMA_ROW_FAULTS = new Set(
  'P2000 P2001 P2002 P2003 P2004 P2005 P2006 P2007 P2011 P2012 P2013 P2014 P2015 P2017 P2018 P2019 P2020 P2023 P2025 P2033'.split(
    ' ',
  ),
);

/**
 * Could the same read or write succeed later, because nothing is wrong with it?
 * @param error whatever a statement, or work around statements, was rejected with
 * @returns false for what the server refuses in the values themselves, and for errors that no driver made
 */
export function isStoreAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  if (code !== undefined) return isAwayByCode(code, error);
  if (error instanceof AggregateError) return error.errors.length === 0 || error.errors.some(isStoreAway);
  if (/^PrismaClient(?:Initialization|UnknownRequest|RustPanic)Error$/.test(error.name)) return true;
  return DRIVER_TEXT.test(error.message) || isStoreAway(error.cause);
}

function isAwayByCode(code: string, error: Error): boolean {
  if (PRISMA_CODE.test(code)) return isAwayByPrisma(code, error);
  if (SQL_STATE.test(code)) return !ROW_FAULT_CLASSES.has(code.slice(0, 2));
  return code in constants.errno || SOCKET_CODE.test(code);
}

/** Prisma passes on the server's error of a raw statement. */
function isAwayByPrisma(code: string, error: Error): boolean {
  const meta: unknown = Reflect.get(error, 'meta');
  const adapter = isObject(meta) ? meta['driverAdapterError'] : undefined;
  const cause = isObject(adapter) ? adapter['cause'] : undefined;
  const original = isObject(cause) ? cause['originalCode'] : undefined;
  if (typeof original === 'string' && SQL_STATE.test(original)) return isAwayByCode(original, error);
  return !PRISMA_ROW_FAULTS.has(code);
}

function codeOf(error: Error): string | undefined {
  const code: unknown = Reflect.get(error, 'code');
  return typeof code === 'string' ? code : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
