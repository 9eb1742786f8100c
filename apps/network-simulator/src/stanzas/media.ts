import { child, node } from '../wire/node.js';
import type { IqHandler } from './query-handler.js';

/** Where files go. */
export const media: IqHandler = ({ network, device }, iq) => {
  if (!child(iq, 'media_conn')) return undefined;
  const auth = network.media.uploadToken(device.account.phone);
  return [
    node('media_conn', { auth, ttl: '300', auth_ttl: '300', max_buckets: '12' }, [
      node('host', { hostname: network.mediaHost() }),
    ]),
  ];
};
