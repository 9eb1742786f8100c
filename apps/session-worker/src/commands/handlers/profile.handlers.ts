import type { Success } from '@dormouse/gateway-contract';
import { contactJid } from '../../convert/jid.js';
import type { Handlers } from '../command-context.js';

/** What handlers of the own profile need. */
export interface ProfileTools {
  /**
   * A stored file as a square JPEG.
   * @throws {GatewayError} 400 naming `icon` for an unknown id or a file that is no picture
   */
  readonly iconOf: (channelId: string, mediaId: string) => Promise<Buffer>;
}

const DONE: Success = { success: true };

export function profileHandlers(tools: ProfileTools): Pick<Handlers, 'profile.get' | 'profile.update'> {
  return {
    'profile.get': async (context) => {
      context.leaveLane(); // queries keep no message waiting
      const { network, identity } = context.session();
      const jid = contactJid(identity.phone);
      const [about, { picture, pictureFull }] = await Promise.all([
        network.people.about(jid),
        network.people.pictures(jid),
      ]);
      return {
        name: identity.pushName ?? '',
        ...(about !== undefined && { about }),
        ...(picture !== '' && { icon: picture }),
        ...(pictureFull !== '' && { icon_full: pictureFull }),
        ...(identity.pushName !== undefined && { push_name: identity.pushName }),
      };
    },
    'profile.update': async (context, { name, about, icon }) => {
      const { network, identity } = context.session();
      // The file first: it can be refused, and nothing is changed then.
      const jpeg = icon === undefined ? undefined : await tools.iconOf(context.channelId, icon);
      if (jpeg) await network.profile.setPicture(contactJid(identity.phone), jpeg);
      if (about !== undefined) await network.profile.setAbout(about);
      if (name !== undefined) await network.profile.setName(name);
      return DONE;
    },
  };
}
