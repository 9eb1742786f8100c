/** The server part of addresses that name people by phone number. */
export const PHONE_SERVER = 's.whatsapp.net';
/** The server part of addresses that name people by their private id. */
export const LID_SERVER = 'lid';
/** Where stanzas of the server itself come from. It has no user part: clients compare it with exactly this text. */
export const SERVER = '@s.whatsapp.net';
export const STATUS_BROADCAST = 'status@broadcast';

/** `user[:device]@server`, taken apart. Device 0 is the phone and is not written. */
export interface Jid {
  user: string;
  device: number;
  server: string;
}

export function parseJid(text: string): Jid {
  const at = text.indexOf('@');
  const left = at < 0 ? text : text.slice(0, at);
  const server = at < 0 ? PHONE_SERVER : text.slice(at + 1);
  const colon = left.indexOf(':');
  const name = colon < 0 ? left : left.slice(0, colon);
  const agent = name.indexOf('_');
  return {
    user: agent < 0 ? name : name.slice(0, agent),
    device: colon < 0 ? 0 : Number(left.slice(colon + 1)) || 0,
    server: server === 'c.us' ? PHONE_SERVER : server,
  };
}

export function formatJid({ user, device, server }: Jid): string {
  return device ? `${user}:${device}@${server}` : `${user}@${server}`;
}

/** The address without its device. */
export function bareJid(text: string): string {
  const { user, server } = parseJid(text);
  return `${user}@${server}`;
}

export const isGroupJid = (text: string): boolean => text.endsWith('@g.us');
export const isLidJid = (text: string): boolean => text.endsWith('@lid');
export const isBroadcastJid = (text: string): boolean => text.endsWith('@broadcast');
