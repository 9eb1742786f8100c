import { Socket } from 'node:net';
import pg from 'pg';

export interface ListenOptions {
  /** What LISTEN takes: names of PostgreSQL's notification channels. */
  channels: readonly string[];
  /** What for; shown in pg_stat_activity behind the app's name. */
  purpose: string;
  /** From now on nothing is missed: every notification of a transaction that commits after this moment is received. */
  onListening: () => void;
  /** Notifications come in the order in which their transactions committed. */
  onNotification: (channel: string, payload: string) => void;
  /** The connection could not be made or has ended. Called once, as the last, and not after `close`. */
  onEnd: (error: Error) => void;
}

/** A connection that listens. */
export interface Listener {
  /** Ends it; nothing is called any more. Takes no longer than a second, even when the server has fallen silent. */
  close(): Promise<void>;
}

const LISTENS_WITHIN_MS = 5_000;
/** A server that does not end the connection in this time is left without a goodbye. */
const GOODBYE_WITHIN_MS = 1_000;

/**
 * Listens on a connection of its own, made in the background, which does nothing else and does not keep the process from
 * ending. It is not made anew by itself: what was notified in between is lost, and its user must know.
 *
 * It must be a session of its own at the server: behind a pooler in transaction mode nothing is received, and nothing fails.
 */
export function listen(server: pg.ClientConfig, options: ListenOptions): Listener {
  const socket = new Socket();
  socket.unref();
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const client = new pg.Client({
    ...server,
    application_name: `${server.application_name ?? 'dormouse'} ${options.purpose}`,
    query_timeout: LISTENS_WITHIN_MS,
    stream: () => socket,
  });
  let notified = true;
  let listening = false;
  const end = (error: Error): void => {
    socket.destroy();
    if (!notified) return;
    notified = false;
    options.onEnd(error);
  };
  client.on('error', end);
  client.on('end', () => end(new Error('the connection has ended')));
  client.on('notification', ({ channel, payload }) => {
    if (notified) options.onNotification(channel, payload ?? '');
  });
  const start = async (): Promise<void> => {
    await client.connect();
    await client.query(options.channels.map((name) => `LISTEN ${pg.escapeIdentifier(name)}`).join('; '));
    listening = true;
    if (notified) options.onListening();
  };
  start().catch((error: unknown) => end(error instanceof Error ? error : new Error(String(error))));
  return {
    close: async () => {
      notified = false;
      if (!listening || socket.destroyed) {
        socket.destroy();
        return;
      }
      client.end().catch(() => undefined);
      const giveUp = setTimeout(() => socket.destroy(), GOODBYE_WITHIN_MS);
      await closed;
      clearTimeout(giveUp);
    },
  };
}
