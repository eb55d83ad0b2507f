from lobandits.service.client import Client as Client
from lobandits.service.decision import Decision as Decision
from lobandits.service.decision import new_id as new_id
from lobandits.service.decision_service import DecisionService as DecisionService
from lobandits.service.observers.control_group import Control as Control
from lobandits.service.reports.log import LogRow as LogRow
from lobandits.service.store import Store as Store
from lobandits.service.store import open_store as open_store

__all__: list[str]
