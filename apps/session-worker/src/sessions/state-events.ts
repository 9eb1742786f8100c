/**
 * Notifies customers of a channel's session: its status, a code to scan, a number linked or unlinked.
 *
 * Guarantees: a state and its events are written in one fenced transaction: both are there or neither is. Only a visible
 * change is notified. A code is notified as it is offered; losing one is harmless, as another follows in seconds.
 */
import type { LogOf } from '@dormouse/bootstrap';
import {
  CONNECTED_TO_CUSTOMERS,
  healthOf,
  linkedUser,
  type ChannelDirectory,
  type ChannelRecord,
  type SessionStateChange,
} from '@dormouse/channel-directory';
import type { Fence } from '@dormouse/database';
import { channelStatus, type ChannelEvent, type LoginCode } from '@dormouse/gateway-contract';
import type { EventWriter } from '@dormouse/message-store/write';
import { toDataURL } from 'qrcode';

export interface StateEventsOptions {
  readonly directory: ChannelDirectory;
  readonly events: EventWriter;
  /** Notifies the dispatcher of new events. */
  readonly eventsReady: (channelId: string) => void;
  readonly version: string;
  readonly log: LogOf<'warn'>;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Side of the picture of a code, as GET /users/login/image draws it. */
const CODE_PIXELS = 264;

export class StateEvents {
  constructor(private readonly options: StateEventsOptions) {}

  /** Stores a state, with its events. @returns false when the channel is not there */
  async record(fence: Fence, channelId: string, change: SessionStateChange): Promise<boolean> {
    const { directory, events, eventsReady } = this.options;
    if (await directory.recordSilentState(fence, channelId, change)) return true;
    let stored = false;
    const { seqs } = await events.during(fence, channelId, async (connection) => {
      const before = await directory.lock(connection, channelId);
      stored = await directory.recordSessionState(fence, channelId, change, connection);
      const after = stored ? await directory.lock(connection, channelId) : undefined;
      return before && after && !after.deleted ? this.changes(before, after) : [];
    });
    if (seqs.length > 0) eventsReady(channelId);
    return stored;
  }

  /** Notifies of a code that can be scanned, in the background. */
  offered(fence: Fence, channelId: string, code: LoginCode): void {
    this.storeCode(fence, channelId, code).catch((error: unknown) =>
      this.options.log.warn({ channelId, err: error }, 'the event of a login code could not be stored'),
    );
  }

  private async storeCode(fence: Fence, channelId: string, { code, expiresAtMs }: LoginCode): Promise<void> {
    const { events, eventsReady, now } = this.options;
    const picture = await toDataURL(code, { width: CODE_PIXELS, errorCorrectionLevel: 'L' });
    const expire = Math.max(1, Math.round((expiresAtMs - now()) / 1_000));
    const payload = { qr: { status: 'OK' as const, base64: picture, rowdata: code, expire } };
    await events.append(fence, channelId, [{ type: 'channel', method: 'patch', payload }]);
    eventsReady(channelId);
  }

  private changes(before: ChannelRecord, after: ChannelRecord): ChannelEvent[] {
    const { now, version } = this.options;
    const [was, is] = [linkedUser(before), linkedUser(after)];
    const health = healthOf(after, { nowMs: now(), version });
    // The phone sends its owner's name some moments after the link: no other event would carry it.
    const isNamed = was?.id === is?.id && was?.pushname === undefined && is?.pushname !== undefined;
    const shows = isNamed || shownStatus(before) !== shownStatus(after);
    return [
      ...(was && was.id !== is?.id ? [userEvent('delete', was)] : []),
      ...(is && was?.id !== is.id ? [userEvent('post', is)] : []),
      ...(shows ? [{ type: 'channel' as const, method: 'post' as const, payload: { health } }] : []),
    ];
  }
}

/** Status of a channel as its events show it. */
function shownStatus({ session }: ChannelRecord): string {
  const state = CONNECTED_TO_CUSTOMERS.includes(session.state) ? 'open' : session.state;
  const { code, reason = '' } = channelStatus({ ...session, state });
  return `${code} ${reason}`;
}

function userEvent(method: 'post' | 'delete', user: NonNullable<ReturnType<typeof linkedUser>>): ChannelEvent {
  return { type: 'users', method, payload: { user } };
}
