import { useRead } from '../api/api.js';

/** Address of a region's gateway, without a slash at its end; undefined while it is not known here. */
export function useGatewayUrl(region: string): string | undefined {
  const regions = useRead('getInstallation', {}).data?.regions;
  return regions?.find(({ code }) => code === region)?.gateway_url?.replace(/\/+$/, '');
}
