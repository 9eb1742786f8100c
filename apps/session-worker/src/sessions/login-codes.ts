import type { LoginCode } from '@dormouse/gateway-contract';

/** Baileys shows the first code of a pairing for a minute, each later one for 20 s. */
const FIRST_CODE_MS = 60_000;
const LATER_CODE_MS = 20_000;

/** The codes of one pairing, of which the newest counts. */
export class LoginCodes {
  private code: LoginCode | undefined;
  private offered = 0;

  constructor(private readonly now: () => number) {}

  offer(code: string): void {
    const livesMs = this.offered++ === 0 ? FIRST_CODE_MS : LATER_CODE_MS;
    this.code = { code, expiresAtMs: this.now() + livesMs };
  }

  /** The code that the network still takes. */
  get current(): LoginCode | undefined {
    return this.code && this.code.expiresAtMs > this.now() ? this.code : undefined;
  }

  /** The pairing is over. */
  clear(): void {
    this.code = undefined;
    this.offered = 0;
  }
}
