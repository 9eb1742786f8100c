import { fetchLatestWaWebVersion, type WAVersion } from '@whiskeysockets/baileys';

/** The version of the network's own web client. @throws when it cannot be read */
export async function newestVersion(): Promise<WAVersion> {
  const { version, isLatest } = await fetchLatestWaWebVersion({ signal: AbortSignal.timeout(10_000) });
  if (!isLatest) throw new Error('the newest version of the client could not be found out');
  return version;
}

/** Shortest interval between two queries of the newest version. */
const QUERY_INTERVAL_MS = 600_000;

/**
 * The client version that sockets report. The network refuses versions that are too old (405); then its
 * newest one is looked up, once for all sessions, and every later connect uses it. If that fails, connects continue with
 * the known one, and a later refusal looks it up again.
 */
export class ClientVersion {
  private newest: WAVersion | undefined;
  private queriedMs = -Infinity;

  constructor(
    /** Queries the network's newest version. */
    private readonly query: () => Promise<WAVersion>,
    private readonly now: () => number = Date.now,
  ) {}

  /** Undefined: the library's own. */
  get current(): WAVersion | undefined {
    return this.newest;
  }

  /** The network called our version outdated. Never rejects. */
  async outdated(): Promise<void> {
    if (this.now() - this.queriedMs < QUERY_INTERVAL_MS) return;
    this.queriedMs = this.now();
    try {
      this.newest = await this.query();
    } catch {
      // a later refusal queries again; the refusals themselves are logged and counted
    }
  }
}
