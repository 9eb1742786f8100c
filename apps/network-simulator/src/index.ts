/** What programs use that start a network in their own process. */
export { startSimulator, type Simulator, type SimulatorOptions } from './simulator.js';
export { quietLibsignal } from './quiet-libsignal.js';
export type { Network } from './network/network.js';
export type { Account } from './network/account.js';
export type { Draft, FileDraft } from './phones/compose.js';
export type { Phone } from './phones/phone.js';
export type { Phones } from './phones/phones.js';
export type { PhoneMessage } from './phones/message-log.js';
