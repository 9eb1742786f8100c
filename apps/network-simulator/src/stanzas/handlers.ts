import { abt } from './abt.js';
import type { IqHandler } from './query-handler.js';
import { appState } from './app-state.js';
import { blocklist } from './blocklist.js';
import { encrypt } from './encrypt.js';
import { groups } from './groups.js';
import { linkedDevices } from './md.js';
import { media } from './media.js';
import { note } from './notes.js';
import { mex } from './mex.js';
import { passive } from './passive.js';
import { ping } from './ping.js';
import { privacy } from './privacy.js';
import { disappearingMode } from './disappearing-mode.js';
import { profilePicture } from './profile-picture.js';
import { status } from './status.js';
import { usync } from './usync.js';

/** Who answers what, by namespace. */
export const handlers: Record<string, IqHandler> = {
  abt,
  blocklist,
  disappearing_mode: disappearingMode,
  encrypt,
  md: linkedDevices,
  passive,
  privacy,
  status,
  'urn:xmpp:whatsapp:dirty': note,
  usync,
  'w:g2': groups,
  'w:m': media,
  'w:mex': mex,
  'w:p': ping,
  'w:profile:picture': profilePicture,
  'w:stats': note,
  'w:sync:app:state': appState,
};
