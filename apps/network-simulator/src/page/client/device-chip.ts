/// <reference lib="dom" />
import type { LinkedDevice } from './api.js';
import { attempt, h } from './dom.js';

/** What can be done with a linked device. */
export interface DeviceActions {
  trace: () => void;
  unlink: () => Promise<unknown>;
}

/** A linked device of a phone: whether it is online, and what can be done with it. */
export function deviceChip(phone: string, linked: LinkedDevice, { trace, unlink }: DeviceActions): HTMLElement {
  const { device, online, platform } = linked;
  return h(
    'span',
    {},
    `Device ${device} (${platform}) ${online ? 'online' : 'away'} `,
    h(
      'button',
      {
        type: 'button',
        'aria-label': `Trace device ${device}`,
        'data-focus': `${phone} trace ${device}`,
        onclick: trace,
      },
      'Trace',
    ),
    ' ',
    h(
      'button',
      {
        type: 'button',
        'aria-label': `Unlink device ${device}`,
        'data-focus': `${phone} device ${device}`,
        onclick: () => attempt(unlink),
      },
      'Unlink',
    ),
  );
}
