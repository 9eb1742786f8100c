import type { ChannelRecord } from '@dormouse/channel-directory';
import { channelStatus, type Health } from '@dormouse/gateway-contract';

/** GET /health from the channel's record alone: neither the worker nor the network is asked. */
export function healthOf(channel: ChannelRecord, { nowMs, version }: { nowMs: number; version: string }): Health {
  const { session, settings } = channel;
  return {
    channel_id: channel.id,
    start_at: Math.floor(session.sinceMs / 1_000),
    uptime: Math.max(0, Math.floor((nowMs - session.sinceMs) / 1_000)),
    version,
    ...(session.deviceId === null ? {} : { device_id: session.deviceId }),
    status: channelStatus(session, { legacyText: settings.legacy_status_text === true }),
    ...(session.linked && session.phone !== null ? { user: userOf(session.phone, session.pushName) } : {}),
  };
}

function userOf(phone: string, pushName: string | null): NonNullable<Health['user']> {
  return { id: phone, name: pushName ?? '', ...(pushName === null ? {} : { pushname: pushName }) };
}
