# SPDX-License-Identifier: Apache-2.0
"""What the workers of outage.py run. Environment: BROKER (a URL), DONE (a file)."""

import os

import celery

app = celery.Celery("jobs", broker=os.environ["BROKER"], backend=os.environ["BROKER"])
app.conf.broker_connection_retry_on_startup = True


@app.task
def note(number):
    """A line per job: a short write to the end of a file is whole."""
    with open(os.environ["DONE"], "a", encoding="ascii") as done:
        done.write(f"{number}\n")
    return number
