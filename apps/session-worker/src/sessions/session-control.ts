import type { LoginCode } from '@dormouse/gateway-contract';

/** What commands may do with sessions beyond using an open socket. */
export interface SessionControl {
  /**
   * The current code to scan; starts a pairing if none runs, and callers at the same time share it.
   * @param deadlineMs epoch milliseconds until when to wait for the network to offer a code
   * @throws {GatewayError} 403 when the channel is linked already; 503 when no code came in time
   */
  loginCode(channelId: string, deadlineMs: number): Promise<LoginCode>;
  /**
   * Eight letters that link the channel when they are entered on the phone of this number: the same ones until they expire; letters
   * for another number replace them.
   * @param phone digits with country code
   * @throws {GatewayError} 400 when the network refuses the number; 403 and 503 as above
   */
  phoneCode(channelId: string, phone: string, deadlineMs: number): Promise<LoginCode>;
  /** Unlinks the device: notifies the network if it can be reached, wipes all keys, leaves the channel not linked. */
  logout(channelId: string): Promise<void>;
  /** For a deleted channel: logs out as far as possible, then leaves nothing of the session behind. */
  forget(channelId: string): Promise<void>;
}
