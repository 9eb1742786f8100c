import type { Account } from '../network/account.js';
import { isLidJid, PHONE_SERVER } from '../wire/jid.js';
import { child, children, node, textOf, type Node } from '../wire/node.js';
import type { QueryContext, IqHandler } from './query-handler.js';

type Protocol = (context: QueryContext, account: Account, jid: string) => Node | undefined;

/** What can be queried about a person, by the query's child tag. */
const protocols: Record<string, Protocol> = {
  devices: ({ network, device }, account) => {
    account.subscribeToDeviceList(device, network.now());
    const companions = [...account.devices.values()].map(({ id, state }) =>
      node('device', { id: String(id), 'key-index': String(state.keyIndex) }),
    );
    return node('devices', {}, [
      node('device-list', {}, [node('device', { id: '0' }), ...companions]),
      node('key-index-list', { ts: network.timestamp() }),
    ]);
  },
  lid: (_context, account, jid) => (isLidJid(jid) ? undefined : node('lid', { val: account.lidJid })),
  status: (_context, account) =>
    node(
      'status',
      { t: Math.floor(account.state.about.setAtMs / 1000).toString() },
      Buffer.from(account.state.about.text),
    ),
  picture: ({ device }, { state }) => {
    const isHidden = state !== device.account.state && state.privacy['profile'] === 'none';
    return state.picture && !isHidden ? node('picture', { id: state.picture.id }) : undefined;
  },
  disappearing_mode: (_context, account) =>
    node('disappearing_mode', { duration: String(account.state.disappearingSeconds), t: '0' }),
};

/** Queries about people: devices, private ids, whether a number exists, texts about them. Unknown people are left out. */
export const usync: IqHandler = (context, iq) => {
  const request = child(iq, 'usync');
  const query = children(child(request, 'query'));
  const wanted = query.map(({ tag }) => tag);
  const byLid = query.some(({ tag, attrs }) => tag === 'contact' && attrs['addressing_mode'] === 'lid');
  const users = children(child(request, 'list'), 'user').flatMap((user) => describe(context, wanted, user, byLid));
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

/** @param byLid people who are searched by number are named by private id */
function describe(context: QueryContext, wanted: string[], user: Node, byLid: boolean): Node[] {
  // The number comes back as it was typed, in bytes: it may not be the one the account is named by.
  const query = textOf(child(user, 'contact'));
  const echoed = query === undefined ? undefined : Buffer.from(query);
  const typed = query?.replace(/\D/g, '');
  const jid = user.attrs['jid'] ?? `${typed ?? ''}@${PHONE_SERVER}`;
  const account = typed === undefined ? context.network.accounts.find(jid) : context.network.accounts.findTyped(typed);
  if (!account || context.network.unknown(account)) {
    return wanted.includes('contact') ? [node('user', { jid: jid }, [node('contact', { type: 'out' }, echoed)])] : [];
  }
  const answers = wanted.flatMap((tag) =>
    tag === 'contact' ? node('contact', { type: 'in' }, echoed) : (protocols[tag]?.(context, account, jid) ?? []),
  );
  const named = byLid ? { jid: account.lidJid, pn_jid: account.phoneJid } : { jid: account.phoneJid };
  return [node('user', { ...named, ...user.attrs }, answers)];
}
