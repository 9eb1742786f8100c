import type { JoinBody } from '@dormouse/management-contract';
import type { Membership } from '../accounts/accounts.js';
import { requireStrong } from '../users/passwords.js';
import type { SignIn } from '../users/sign-in.js';
import type { Invitations } from './invitations.js';

/** How somebody without a user accepts an invitation. */
export class Joining {
  constructor(
    private readonly invitations: Invitations,
    private readonly signIn: SignIn,
  ) {}

  /**
   * Makes a user of the invited address, member of the account.
   * @param from address and id of the request
   * @throws {GatewayError} 400 for a weak password, 404 for a token that does not work, 409 when a user has the address, 429
   */
  async join(body: JoinBody, from: { address: string; requestId: string }): Promise<Membership> {
    const { limits, passwords } = this.signIn.parts;
    requireStrong(body.password, [body.name]);
    await limits.count('sign-up', { about: body.token, address: from.address });
    return this.invitations.acceptAsNewUser(body, await passwords.hash(body.password), from);
  }
}
