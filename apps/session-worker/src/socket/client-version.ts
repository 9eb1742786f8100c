import { fetchLatestWaWebVersion, type WAVersion } from '@whiskeysockets/baileys';

/** The version of the network's own web client. @throws when it cannot be found out */
export async function newestVersion(): Promise<WAVersion> {
  const { version, isLatest } = await fetchLatestWaWebVersion({ signal: AbortSignal.timeout(10_000) });
  if (!isLatest) throw new Error('the newest version of the client could not be found out');
  return version;
}

/** The network is asked for its newest client no more often. */
const ASK_EVERY_MS = 600_000;

/**
 * The client version that sockets report. The network refuses versions that are too old (405); then its
 * newest one is looked up, once for all sessions, and every later connect uses it. If it cannot be had, connects go on
 * with the one that is known and it is asked again after a while.
 */
export class ClientVersion {
  private newest: WAVersion | undefined;
  private askedMs = -Infinity;

  constructor(
    /** Asks the network for its newest version. */
    private readonly ask: () => Promise<WAVersion>,
    private readonly now: () => number = Date.now,
  ) {}

  /** Undefined: the library's own. */
  get current(): WAVersion | undefined {
    return this.newest;
  }

  /** The network called our version outdated. Never rejects. */
  async outdated(): Promise<void> {
    if (this.now() - this.askedMs < ASK_EVERY_MS) return;
    this.askedMs = this.now();
    try {
      this.newest = await this.ask();
    } catch {
      // the next refusal after a while asks again; the refusals themselves are logged and counted
    }
  }
}
