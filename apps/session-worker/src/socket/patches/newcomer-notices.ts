/**
 * Notices that the channel came into a group. The network sends a newcomer the whole group as `create`, as it does when a
 * group is new; only then with `type="new"`, and with `reason="invite"` to who came by a link (whatsmeow,
 * types/events: JoinedGroup). The library (7.0.0-rc14, messages-recv.js, handleGroupNotification) emits "its owner created
 * the group" for all of them.
 */
import {
  getBinaryNodeChild,
  jidNormalizedUser,
  WAMessageStubType,
  type BaileysEventMap,
  type BinaryNode,
  type WAMessage,
  type WASocket,
} from '@whiskeysockets/baileys';

/** A notice that the library emits no message of is forgotten after this many later ones. */
const MOST_NOTED = 100;

/** Emits such notices as what happened: somebody added the channel, or it joined by the link. */
export function distinguishNewcomerNotices({
  ws,
  ev,
  authState,
}: {
  ws: Pick<WASocket['ws'], 'prependListener'>;
  ev: Pick<WASocket['ev'], 'emit'>;
  authState: { creds: { me?: { id: string } | undefined } };
}): void {
  const noted = new Map<string, BinaryNode>();
  ws.prependListener('CB:notification', (notice: BinaryNode) => {
    const created = getBinaryNodeChild(notice, 'create');
    const { id, type } = notice.attrs;
    if (type !== 'w:gp2' || id === undefined || !created || created.attrs['type'] === 'new') return;
    noted.set(id, notice);
    const [oldest] = noted.keys();
    if (noted.size > MOST_NOTED && oldest !== undefined) noted.delete(oldest);
  });
  const emit = ev.emit.bind(ev);
  const corrected = (message: WAMessage): WAMessage => {
    const notice = noted.get(message.key.id ?? '');
    if (!notice || message.messageStubType !== WAMessageStubType.GROUP_CREATE) return message;
    noted.delete(message.key.id ?? '');
    return asJoining(message, notice, jidNormalizedUser(authState.creds.me?.id));
  };
  ev.emit = (event, data) => {
    if (event !== 'messages.upsert' || noted.size === 0) return emit(event, data);
    const upsert = data as BaileysEventMap['messages.upsert'];
    return emit('messages.upsert', { ...upsert, messages: upsert.messages.map(corrected) });
  };
}

function asJoining(message: WAMessage, notice: BinaryNode, own: string): WAMessage {
  const { participant, participant_pn: number, participant_lid: lid } = notice.attrs;
  const byLink = getBinaryNodeChild(notice, 'create')?.attrs['reason'] === 'invite';
  const { GROUP_PARTICIPANT_INVITE, GROUP_PARTICIPANT_ADD } = WAMessageStubType;
  return {
    ...message,
    key: { ...message.key, participant, participantAlt: number ?? lid },
    messageStubType: byLink ? GROUP_PARTICIPANT_INVITE : GROUP_PARTICIPANT_ADD,
    messageStubParameters: [own],
  };
}
