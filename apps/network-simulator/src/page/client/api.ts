/// <reference lib="dom" />

export interface PhoneSummary {
  phone: string;
  lid: string;
  name: string;
}
export interface LinkedDevice {
  device: number;
  online: boolean;
  linkedAt: string;
  waiting: number;
  platform: string;
}
export interface PhoneDetails extends PhoneSummary {
  devices: LinkedDevice[];
}
export interface Chat {
  chat: string;
  name: string;
  unread: number;
  archived?: boolean;
  mutedUntilMs?: number;
}
export interface Message {
  id: string;
  chat: string;
  from: string;
  fromMe: boolean;
  type: string;
  text: string;
  timestamp: number;
  receivedSeq: number;
  status: string;
  pushName?: string;
  reactions?: Record<string, string>;
  votes?: Record<string, string[]>;
  options?: string[];
  /** Of a poll: how many options one may choose; 0: any number. */
  selectable?: number;
  answers?: Record<string, string>;
  offer?: { header?: string; footer?: string; choices: string[] };
  edited?: boolean;
  deleted?: boolean;
  erased?: boolean;
  quoted?: string;
  quotedText?: string;
  /** Of what changes or adds to another message: its id. */
  target?: string;
  /** Of `unknown`: the name of the content. */
  content?: string;
  forwarded?: boolean;
  viewOnce?: boolean;
  file?: { mimetype: string; length: number; fileName?: string };
  location?: { latitude: number; longitude: number; name: string };
}
export interface PhoneEvent {
  kind: string;
  what: string;
  chat: string;
  from: string;
  details?: Record<string, string>;
}
export interface Fault {
  id: string;
  kind: string;
  phone?: string;
  count?: number;
}
/** A fault began, had its effect once, or ended. */
export interface FaultEvent {
  what: 'began' | 'struck' | 'ended';
  fault: Fault;
  /** Where it struck. */
  phone?: string;
}
/** A stanza, with bytes that are no text as base64. */
export interface Stanza {
  tag: string;
  attrs?: Record<string, string>;
  content?: Stanza[] | string | { base64: string };
}
/** A stanza that passed a connection. */
export interface TracedStanza {
  seq: number;
  connection: number;
  /** Who was logged in; absent while a client is linked. */
  phone?: string;
  device?: number;
  /** `in`: from the client to the network. */
  direction: 'in' | 'out';
  /** ISO 8601. */
  at: string;
  stanza: Stanza;
  /** The decrypted content of the message in it. */
  message?: object;
}

/** Calls the control API. Throws an Error with its sentence when it refuses. */
export async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(path, {
    method,
    ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as T & { error?: string };
  if (!response.ok) throw new Error(answer.error ?? `The simulator answered ${response.status}.`);
  return answer;
}

/** A file as base64, for sending. */
export async function base64Of(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = '';
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(binary);
}
