/** Something that a phone noticed besides messages. */
export interface PhoneEvent {
  kind: 'group' | 'presence' | 'typing' | 'picture' | 'call' | 'profile';
  /** What happened: the change in a group, `composing`, `available` and so on. */
  what: string;
  /** The chat or person it is about. */
  chat: string;
  from: string;
  at: string;
  /** Of notices: the network's id. */
  id?: string;
  details?: Record<string, string>;
}
