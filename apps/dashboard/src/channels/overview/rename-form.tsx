import { Button, Group, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { ManagedChannel } from '@dormouse/management-contract';
import { useTranslation } from 'react-i18next';
import { useAction } from '../../api/api.js';
import { FailureNote, fieldFault } from '../../frame/failure-note.js';
import { Part } from '../part.js';

export function RenameForm({ channel }: { channel: ManagedChannel }) {
  const { t } = useTranslation('channels');
  const form = useForm({ initialValues: { name: channel.name } });
  const rename = useAction('renameChannel', { changes: ['getChannel', 'listChannels'] });
  return (
    <Part title={t('rename.title')}>
      <form onSubmit={form.onSubmit((body) => rename.mutate({ path: { id: channel.id }, body }))}>
        <Group align="flex-end">
          <TextInput
            label={t('rename.name')}
            maxLength={100}
            style={{ flex: '1 1 14rem' }}
            error={fieldFault(rename.error, 'name')}
            {...form.getInputProps('name')}
          />
          <Button type="submit" variant="default" loading={rename.isPending} disabled={!form.isDirty()}>
            {t('rename.save')}
          </Button>
        </Group>
      </form>
      <FailureNote error={rename.error} fields={['name']} />
    </Part>
  );
}
