import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** Who signs in at the provider. */
export interface ProviderUser {
  sub: string;
  email: string;
  email_verified: boolean;
  name: string;
}

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** An OpenID Connect provider for specs: the user who is named signs in without a question. */
export class TestIdentityProvider {
  readonly #keys = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  readonly #codes = new Map<string, { user: ProviderUser; nonce: string }>();
  /** Signs with another key than it publishes. */
  forges = false;

  private constructor(
    private readonly server: Server,
    readonly issuer: string,
  ) {}

  static async open(): Promise<TestIdentityProvider> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const provider = new TestIdentityProvider(server, `http://127.0.0.1:${port}`);
    server.on('request', (request: IncomingMessage, response) => {
      void provider.#answer(request).then((body) => {
        response.writeHead(body ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(body ?? {}));
      });
    });
    return provider;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  /** What the provider sends the browser back with, after somebody signed in at the address. */
  signIn(address: string, user: ProviderUser): URLSearchParams {
    const { searchParams } = new URL(address);
    const code = randomUUID();
    this.#codes.set(code, { user, nonce: searchParams.get('nonce') ?? '' });
    return new URLSearchParams({ code, state: searchParams.get('state') ?? '', iss: this.issuer });
  }

  async #answer(request: IncomingMessage): Promise<object | undefined> {
    switch (new URL(request.url ?? '', this.issuer).pathname) {
      case '/.well-known/openid-configuration':
        return {
          issuer: this.issuer,
          authorization_endpoint: `${this.issuer}/authorize`,
          token_endpoint: `${this.issuer}/token`,
          jwks_uri: `${this.issuer}/keys`,
          id_token_signing_alg_values_supported: ['RS256'],
        };
      case '/keys':
        return { keys: [{ ...this.#keys.publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }] };
      case '/token': {
        const code = new URLSearchParams(await text(request)).get('code') ?? '';
        const issued = this.#codes.get(code);
        this.#codes.delete(code);
        return (
          issued && {
            access_token: 'secret-access',
            token_type: 'Bearer',
            expires_in: 60,
            id_token: this.#idToken(issued),
          }
        );
      }
      default:
        return undefined;
    }
  }

  #idToken({ user, nonce }: { user: ProviderUser; nonce: string }): string {
    const nowS = Math.floor(Date.now() / 1_000);
    const claims = { iss: this.issuer, aud: 'dormouse', iat: nowS, exp: nowS + 60, nonce, ...user };
    const signed = `${base64url({ alg: 'RS256', kid: 'one', typ: 'JWT' })}.${base64url(claims)}`;
    const key = this.forges ? generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey : this.#keys.privateKey;
    return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`;
  }
}
