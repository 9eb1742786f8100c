import { Alert, Button } from '@mantine/core';
import type { ManagedChannel } from '@dormouse/management-contract';
import { useTranslation } from 'react-i18next';
import { useAction } from '../../api/api.js';
import { keepToken } from '../../first-run/channel-tokens.js';
import { CopyField } from '../../frame/copy-field.js';
import { FailureNote } from '../../frame/failure-note.js';
import { Part } from '../part.js';

/** A new token in place of the old one; shown once. */
export function TokenRotation({ channel }: { channel: ManagedChannel }) {
  const { t } = useTranslation('channels');
  const rotate = useAction('rotateToken', { onDone: ({ token }) => keepToken(channel.id, token) });
  return (
    <Part title={t('token.title')} about={t('token.about')}>
      <Button
        variant="default"
        loading={rotate.isPending}
        onClick={() => rotate.mutate({ path: { id: channel.id } })}
        style={{ alignSelf: 'flex-start' }}
      >
        {t('token.rotate')}
      </Button>
      <FailureNote error={rotate.error} />
      {rotate.data && (
        <>
          <Alert color="yellow" title={t('token.once')} role="status">
            {t(rotate.data.takes_effect === 'now' ? 'token.keep' : 'token.later')}
          </Alert>
          <CopyField value={rotate.data.token} label={t('token.label')} />
        </>
      )}
    </Part>
  );
}
