/**
 * Notices that a contact linked or unlinked a device. The network names the device once, under both of its addresses; the
 * library (7.0.0-rc14, messages-recv.js, handleDevicesNotification) corrects its list of the number alone, and sends to
 * the LID leave the new device out until the list expires, after five minutes.
 */
import type { BinaryNode, WASocket } from '@whiskeysockets/baileys';

/** Has the library correct both lists: each device is named under either address. Before its own listener. */
export function correctBothDeviceLists({ ws }: { ws: Pick<WASocket['ws'], 'prependListener'> }): void {
  ws.prependListener('CB:notification', ({ attrs, content }: BinaryNode) => {
    if (attrs['type'] !== 'devices' || !Array.isArray(content)) return;
    for (const change of content) {
      if (Array.isArray(change.content)) change.content = change.content.flatMap(underBothAddresses);
    }
  });
}

function underBothAddresses(device: BinaryNode): BinaryNode[] {
  const { jid, lid } = device.attrs;
  if (device.tag !== 'device' || lid === undefined || lid === jid) return [device];
  return [device, { ...device, attrs: { ...device.attrs, jid: lid } }];
}
