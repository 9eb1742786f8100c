import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { databaseRole, ROOT_FOLDER, STORE_APPS } from '../app-names.js';

const compose = parse(readFileSync(`${ROOT_FOLDER}docker-compose.yml`, 'utf8'), { merge: true }) as {
  services: Record<string, { environment?: Record<string, string | number>; command?: string[] }>;
  configs: { 'object-accounts': { content: string } };
};

describe('docker-compose.yml', () => {
  it('gives each app accounts of its own, and no app the account that may do everything', () => {
    for (const app of STORE_APPS) {
      const environment = compose.services[app]?.environment ?? {};
      const secret = `${app.toUpperCase().replaceAll('-', '_')}_PASSWORD`;
      const addresses = JSON.stringify(environment).match(/(?:postgresql|rediss?):\/\/[^@]*@/g) ?? [];
      const own = [`postgresql://${databaseRole(app)}:\${${secret}}@`, `redis://${app}:\${${secret}}@`];
      expect([...new Set(addresses)].toSorted()).toEqual(own);
      // Where the accounts are made.
      for (const store of ['setup', 'redis'])
        expect(JSON.stringify(compose.services[store])).toContain(`\${${secret}:?`);
      expect(compose.services['redis']?.command?.join(' ')).toMatch(new RegExp(`for app in .*\\b${app}\\b`));
    }
  });

  it('gives each app in its object store what its policy in infra/s3 allows, in the form of that store', () => {
    const { identities } = JSON.parse(compose.configs['object-accounts'].content) as {
      identities: { name: string; actions: string[]; credentials: { accessKey: string; secretKey: string }[] }[];
    };
    const words: Record<string, string> = {
      GetObject: 'Read',
      PutObject: 'Write',
      DeleteObject: 'Write',
      ListBucket: 'List',
    };
    const withPolicy = STORE_APPS.filter((app) => existsSync(`${ROOT_FOLDER}infra/s3/${app}.json`));
    expect(identities.map(({ name }) => name).toSorted()).toEqual([...withPolicy, 'setup'].toSorted());
    for (const app of withPolicy) {
      const policy = JSON.parse(readFileSync(`${ROOT_FOLDER}infra/s3/${app}.json`, 'utf8')) as {
        Statement: {
          Action: string[];
          Resource: string[];
          Condition?: { StringLikeIfExists: { 's3:prefix': string | string[] } };
        }[];
      };
      const allowed = policy.Statement.flatMap(({ Action, Resource, Condition }) => {
        const prefixes = Condition
          ? [Condition.StringLikeIfExists['s3:prefix']].flat()
          : Resource.map((resource) => resource.replace('arn:aws:s3:::%bucket%/', ''));
        return Action.flatMap((action) => words[action.replace('s3:', '')] ?? []).flatMap((word) =>
          prefixes.map((prefix) => `${word}:dormouse/${prefix}`),
        );
      });
      const identity = identities.find(({ name }) => name === app);
      expect(identity?.actions.toSorted()).toEqual([...new Set(allowed)].toSorted());
      const {
        S3_ACCESS_KEY_ID: key,
        S3_SECRET_ACCESS_KEY: secret,
        REGIONS = '',
      } = compose.services[app]?.environment ?? {};
      for (const { accessKey, secretKey } of identity?.credentials ?? []) {
        expect([key ?? REGIONS, secret ?? REGIONS].map(String)).toEqual([
          expect.stringContaining(accessKey),
          expect.stringContaining(secretKey),
        ]);
      }
    }
  });
});
