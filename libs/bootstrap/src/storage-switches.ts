import { requireTogether } from './dependent-switches.js';

/** Where files are stored, as the `S3_*` switches give it. */
export interface StorageSwitches {
  S3_BUCKET: string;
  S3_ENDPOINT?: string | undefined;
  S3_PUBLIC_ENDPOINT?: string | undefined;
  S3_REGION?: string | undefined;
  S3_ACCESS_KEY_ID?: string | undefined;
  S3_SECRET_ACCESS_KEY?: string | undefined;
}

/** The same as options of the object storage; what is not given is absent. */
export interface StoragePlace {
  bucket: string;
  endpoint?: string;
  publicEndpoint?: string;
  region?: string;
  credentials?: { accessKeyId: string; secretAccessKey: string };
}

/**
 * The object storage of a process.
 * @throws {ConfigError} when one half of the key is given without the other
 */
export function storageFrom(read: StorageSwitches): StoragePlace {
  requireTogether({ ...read }, ['S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY']);
  return storagePlace({
    bucket: read.S3_BUCKET,
    endpoint: read.S3_ENDPOINT,
    publicEndpoint: read.S3_PUBLIC_ENDPOINT,
    region: read.S3_REGION,
    accessKeyId: read.S3_ACCESS_KEY_ID,
    secretAccessKey: read.S3_SECRET_ACCESS_KEY,
  });
}

/** The object storage from its settings one by one, the key in two halves. */
export function storagePlace(given: {
  bucket: string;
  endpoint?: string | undefined;
  publicEndpoint?: string | undefined;
  region?: string | undefined;
  accessKeyId?: string | undefined;
  secretAccessKey?: string | undefined;
}): StoragePlace {
  const { bucket, endpoint, publicEndpoint, region, accessKeyId, secretAccessKey } = given;
  return {
    bucket,
    ...(endpoint !== undefined && { endpoint }),
    ...(publicEndpoint !== undefined && { publicEndpoint }),
    ...(region !== undefined && { region }),
    ...(accessKeyId !== undefined &&
      secretAccessKey !== undefined && { credentials: { accessKeyId, secretAccessKey } }),
  };
}
