import type { WASocket } from '@whiskeysockets/baileys';

/** What a chat shows of somebody who is about to write. */
export type ChatIndicator = 'typing' | 'recording' | 'pause';

export interface ProfileRequests {
  /** @param ownJid the number's own address */
  setPicture(ownJid: string, jpeg: Buffer): Promise<void>;
  setAbout(text: string): Promise<void>;
  setName(name: string): Promise<void>;
  /** Needs a name: the network takes no presence of a number without one, and the library reports no error. */
  setOnline(isOnline: boolean): Promise<void>;
  /** Phones show an indicator for some seconds only. */
  showInChat(jid: string, indicator: ChatIndicator): Promise<void>;
}

const PRESENCES = { typing: 'composing', recording: 'recording', pause: 'paused' } as const;

export function profileRequests(socket: WASocket): ProfileRequests {
  return {
    setPicture: (ownJid, jpeg) => socket.updateProfilePicture(ownJid, jpeg),
    setAbout: (text) => socket.updateProfileStatus(text),
    setName: (name) => socket.updateProfileName(name),
    setOnline: (isOnline) => socket.sendPresenceUpdate(isOnline ? 'available' : 'unavailable'),
    showInChat: (jid, indicator) => socket.sendPresenceUpdate(PRESENCES[indicator], jid),
  };
}
