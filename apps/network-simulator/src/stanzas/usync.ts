import type { Account } from '../network/account.js';
import { isLidJid, PHONE_SERVER } from '../wire/jid.js';
import { child, children, node, textOf, type Node } from '../wire/node.js';
import type { Asker, IqHandler } from './query-handler.js';

type Protocol = (asker: Asker, account: Account, asked: string) => Node | undefined;

/** What can be asked about a person, by the query's child tag. */
const protocols: Record<string, Protocol> = {
  devices: ({ network, device }, account) => {
    account.deviceListAskedBy(device, network.now());
    const companions = [...account.devices.values()].map(({ id, state }) =>
      node('device', { id: String(id), 'key-index': String(state.keyIndex) }),
    );
    return node('devices', {}, [
      node('device-list', {}, [node('device', { id: '0' }), ...companions]),
      node('key-index-list', { ts: network.timestamp() }),
    ]);
  },
  lid: (_asker, account, asked) => (isLidJid(asked) ? undefined : node('lid', { val: account.lidJid })),
  status: (_asker, account) =>
    node(
      'status',
      { t: Math.floor(account.state.about.setAtMs / 1000).toString() },
      Buffer.from(account.state.about.text),
    ),
  disappearing_mode: (_asker, account) =>
    node('disappearing_mode', { duration: String(account.state.disappearingSeconds), t: '0' }),
};

/** Asking about people: devices, private ids, whether a number exists, texts about them. Unknown people are left out. */
export const usync: IqHandler = (asker, iq) => {
  const request = child(iq, 'usync');
  const wanted = children(child(request, 'query')).map(({ tag }) => tag);
  const users = children(child(request, 'list'), 'user').flatMap((user) => describe(asker, wanted, user));
  return [
    node('usync', { sid: request?.attrs['sid'], index: '0', last: 'true', context: request?.attrs['context'] }, [
      node(
        'result',
        {},
        wanted.map((tag) => node(tag)),
      ),
      node('list', {}, users),
    ]),
  ];
};

function describe(asker: Asker, wanted: string[], user: Node): Node[] {
  const typed = textOf(child(user, 'contact'))?.replace(/\D/g, '');
  const asked = user.attrs['jid'] ?? `${typed ?? ''}@${PHONE_SERVER}`;
  const account = typed === undefined ? asker.network.accounts.find(asked) : asker.network.accounts.findTyped(typed);
  if (!account || asker.network.unknown(account)) {
    return wanted.includes('contact') ? [node('user', { jid: asked }, [node('contact', { type: 'out' })])] : [];
  }
  const contact = child(user, 'contact');
  const answers = wanted.flatMap((tag) =>
    // The number comes back as it was typed: it may not be the one the account is named by.
    tag === 'contact'
      ? node('contact', { type: 'in' }, contact && textOf(contact))
      : (protocols[tag]?.(asker, account, asked) ?? []),
  );
  return [node('user', { jid: user.attrs['jid'] ?? account.phoneJid }, answers)];
}
