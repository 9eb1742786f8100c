import { Button, Group, Text } from '@mantine/core';
import type { ManagedChannel } from '@dormouse/management-contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useAction } from '../../api/api.js';
import { FailureNote } from '../../frame/failure-note.js';
import { Part } from '../part.js';

/** Unlinks the number; the channel stays. */
export function LogOut({ channel }: { channel: ManagedChannel }) {
  const { t } = useTranslation('channels');
  const { t: frame } = useTranslation();
  const [isSure, setIsSure] = useState(false);
  const logOut = useAction('logOutChannel', {
    changes: ['getChannel', 'listChannels'],
    onDone: () => setIsSure(false),
  });
  if (channel.phone === undefined && !logOut.data) return null;
  return (
    <Part title={t('logOut.title')} about={t('logOut.about')}>
      <Group>
        {isSure ? (
          <>
            <Button color="red" loading={logOut.isPending} onClick={() => logOut.mutate({ path: { id: channel.id } })}>
              {t('logOut.sure', { phone: channel.phone ?? '' })}
            </Button>
            <Button variant="default" onClick={() => setIsSure(false)}>
              {frame('cancel')}
            </Button>
          </>
        ) : (
          <Button variant="default" onClick={() => setIsSure(true)}>
            {t('logOut.start')}
          </Button>
        )}
      </Group>
      <FailureNote error={logOut.error} />
      {logOut.data && <Text role="status">{t('logOut.done')}</Text>}
    </Part>
  );
}
