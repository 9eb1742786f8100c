/**
 * Codes of authenticator apps (TOTP: six digits, half a minute, one before and one after).
 *
 * Guarantee: a code is accepted once. The half minute whose code was used is stored in the same statement that looks at it, so of
 * two requests with one code, at whatever process, one is accepted; older codes are not accepted after a newer one.
 */
import { defineStatement, type GlobalDatabase } from '@dormouse/database';
import { symmetricDecrypt } from 'better-auth/crypto';
import { Secret, TOTP } from 'otpauth';

const PERIOD_S = 30;
const WINDOW = 1;

const CLAIM_STEP = defineStatement({
  name: 'claim-second-factor-step',
  scope: 'global',
  text: `UPDATE user_second_factors SET last_step = $2 WHERE user_id = $1 AND (last_step IS NULL OR last_step < $2)`,
  parameters: ['text', 'int4'],
});

export class SecondFactorCodes {
  constructor(
    private readonly database: Pick<GlobalDatabase, 'pool' | 'prisma'>,
    private readonly key: string,
    private readonly nowMs: () => number = Date.now,
  ) {}

  /** Whether it is a code of the user that was not used before; it is used then. */
  async use(userId: string, code: string): Promise<boolean> {
    const factor = await this.database.prisma.userSecondFactor.findUnique({ where: { userId } });
    if (!factor) return false;
    const secret = await symmetricDecrypt({ key: this.key, data: factor.secret });
    const now = this.nowMs();
    const totp = new TOTP({ secret: Secret.fromUTF8(secret), period: PERIOD_S, digits: 6 });
    const delta = totp.validate({ token: code, window: WINDOW, timestamp: now });
    if (delta === null) return false;
    const step = Math.floor(now / 1_000 / PERIOD_S) + delta;
    return (await CLAIM_STEP.count(this.database.pool, userId, step)) === 1;
  }
}
