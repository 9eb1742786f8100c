import { Button, Stack, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { ManagedChannel } from '@dormouse/management-contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useAction } from '../../api/api.js';
import { FailureNote } from '../../frame/failure-note.js';
import { Part } from '../part.js';

/** The end of a channel, after its name was typed. */
export function DeleteChannel({ channel }: { channel: ManagedChannel }) {
  const { t } = useTranslation('channels');
  const navigate = useNavigate();
  const [typed, setTyped] = useState('');
  const end = useAction('deleteChannel', {
    changes: ['listChannels'],
    onDone: () => void navigate({ to: '/channels' }),
  });
  return (
    <Part title={t('delete.title')} about={t('delete.about')}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          end.mutate({ path: { id: channel.id } });
        }}
      >
        <Stack gap="sm" maw={360}>
          <TextInput
            label={t('delete.type', { name: channel.name })}
            autoComplete="off"
            value={typed}
            onChange={({ currentTarget: { value } }) => setTyped(value)}
          />
          <Button
            type="submit"
            color="red"
            disabled={typed.trim() !== channel.name}
            loading={end.isPending}
            style={{ alignSelf: 'flex-start' }}
          >
            {t('delete.submit')}
          </Button>
        </Stack>
      </form>
      <FailureNote error={end.error} />
    </Part>
  );
}
