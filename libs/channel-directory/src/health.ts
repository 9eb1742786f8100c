import { channelStatus, type ContactShape, type Health } from '@dormouse/gateway-contract';
import type { ChannelRecord } from './channel-record.js';

/** Health of a channel for GET /health and events, from its record alone. */
export function healthOf(channel: ChannelRecord, { nowMs, version }: { nowMs: number; version: string }): Health {
  const { session, settings } = channel;
  const user = linkedUser(channel);
  return {
    channel_id: channel.id,
    start_at: Math.floor(session.sinceMs / 1_000),
    uptime: Math.max(0, Math.floor((nowMs - session.sinceMs) / 1_000)),
    version,
    ...(session.deviceId === null ? {} : { device_id: session.deviceId }),
    status: channelStatus(session, { legacyText: settings.legacy_status_text === true }),
    ...(user ? { user } : {}),
  };
}

/** The linked number and its name; undefined while the channel is not linked. */
export function linkedUser({ session }: ChannelRecord): ContactShape | undefined {
  const { linked, phone, pushName } = session;
  if (!linked || phone === null) return undefined;
  return { id: phone, name: pushName ?? '', ...(pushName === null ? {} : { pushname: pushName }) };
}
