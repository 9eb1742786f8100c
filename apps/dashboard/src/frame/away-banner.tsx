import { Alert } from '@mantine/core';
import { IconPlugConnectedX } from '@tabler/icons-react';
import { useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import { reachability } from '../api/api.js';

/** One banner while the management API does not answer; it goes by itself when it does. */
export function AwayBanner() {
  const { t } = useTranslation();
  const isReachable = useSyncExternalStore(reachability.subscribe, () => reachability.isReachable);
  return (
    <div role="status" aria-live="polite">
      {!isReachable && (
        <Alert color="yellow" radius={0} icon={<IconPlugConnectedX aria-hidden />} title={t('away.title')}>
          {t('away.text')}
        </Alert>
      )}
    </div>
  );
}
