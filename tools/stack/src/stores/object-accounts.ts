/**
 * The accounts of apps in an object store of our own: each with the policy that `infra/s3` has for it, as operators give them to theirs.
 * A request beyond it is refused (403, AccessDenied), and nothing is done. An app without a policy keeps no objects.
 */
import { existsSync, readFileSync } from 'node:fs';
import { ROOT_FOLDER, STORE_APPS, type StoreApp } from '../app-names.js';
import { type Policy, readPolicy } from '../objects/policy.js';
import type { Credentials } from '../objects/signature.js';

/** The key of an app. */
export function objectCredentials(app: StoreApp, password: string): Credentials {
  return { accessKeyId: `dormouse-${app}`, secretAccessKey: password };
}

/** What each app that keeps or signs objects may do in the bucket. @throws when a policy cannot be read */
export function objectAccounts(
  bucket: string,
  passwords: Readonly<Record<StoreApp, string>>,
): (Credentials & { policy: Policy })[] {
  return STORE_APPS.flatMap((app) => {
    const file = `${ROOT_FOLDER}infra/s3/${app}.json`;
    if (!existsSync(file)) return [];
    const policy = readPolicy(readFileSync(file, 'utf8').replaceAll('%bucket%', bucket));
    return [{ ...objectCredentials(app, passwords[app]), policy }];
  });
}
